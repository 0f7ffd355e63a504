"""The documentation site. ``python docs/make_site.py`` builds and serves it."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "src")]

from pliant import __version__  # noqa: E402

project = "pliant"
author = copyright = "The pliant team"
version = release = __version__
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "site_extension",
]
exclude_patterns = ["site_extension", "notebooks", "**/sg_execution_times.rst"]
suppress_warnings = ["config.cache"]

myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 4
myst_dmath_double_inline = True
math_renderer = html_math_renderer = "mathml"

autodoc_typehints_format = "short"
autodoc_member_order = "bysource"
python_use_unqualified_type_names = True
nitpick_ignore_regex = [("py:.*", ".*")]  # types of NumPy and others: nothing is fetched from their sites

sphinx_gallery_conf = {
    "examples_dirs": ["notebooks"],
    "gallery_dirs": ["start/notebooks"],
    "filename_pattern": r"/\w+\.py$",
    "download_all_examples": False,
    "show_memory": False,
    "capture_repr": (),
    "write_computation_times": False,
    "show_signature": False,
    "remove_config_comments": True,
    "only_warn_on_example_error": False,
    "abort_on_example_error": True,
    "min_reported_time": 1e9,
}

html_theme = "pydata_sphinx_theme"
html_title = f"pliant {version}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_sidebars = {name: [] for name in ("index", "search", "tune", "choose-a-model")}  # they have no subpages
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "show_nav_level": 1,
    "navigation_depth": 2,
    "header_links_before_dropdown": 9,
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
}
