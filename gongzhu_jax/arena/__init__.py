"""The arena: tables where people, remote programs and our players play, over HTTP and WebSocket.

`table` is a state machine without clock, network or storage; `lobby` runs many of them;
`server` puts them on the network. docs/arena.md has the protocol.
"""
