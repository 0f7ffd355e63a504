"""The studio: a page in the browser to load, grab, run and look.

page/        what runs in the browser (TypeScript); built into static/ by ``pip install``
serve, app   the server: address with a token, pages, uploads, one WebSocket per page
session      what all pages share: the project, the engine, the clients; what pages may say is in messages
project      the scene document in its workspace
relay        pictures from the engine to the pages, client by client
engine       the simulation's process, seen from the server
worker       the simulation's process, seen from inside: building, take, pace, picture, estimate
"""
