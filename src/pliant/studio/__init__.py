"""The studio: a page in the browser to load, grab, run and look.

page/        what runs in the browser (TypeScript); built into static/ by ``pip install``
serve        the server: address with a token, pages, uploads, one WebSocket per page
session      what all pages share: the project, the engine, the clients; what pages may say is in messages
document     the scene document in its workspace
client       a page, and the frames from the engine to all pages
engine       the simulation's process, seen from the server
worker       the simulation's process, seen from inside: builder, take, clock, frames, estimate
"""
