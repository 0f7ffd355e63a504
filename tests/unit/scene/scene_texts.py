"""Scene texts that tests share."""

BODY = """\
schema = 1
[[bodies]]
name = "cube"
shape = { box = { size = [1, 1, 1], divisions = [2, 2, 2] } }
"""
ACTION = '[[actions]]\ntype = "{}"\n'
