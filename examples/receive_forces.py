"""Live muscle forces in a program of your own, with the standard library alone: a start for a controller.

One learns what the datagrams of `musclesolve live TRIAL.toml --from SOURCE --to udp:5006` hold: once a second the
names, and for each sample the forces, with `valid` for each leg. Start with `python receive_forces.py 5006`, and end
with Ctrl-C.
"""

import json
import socket
import sys

receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
receiver.bind(("127.0.0.1", int(sys.argv[1])))
names = None
while True:
    content = json.loads(receiver.recv(65536))
    if content["kind"] == "names":
        names = content
    elif names and content["valid"][names["sides"].index("r")]:
        soleus = content["force"][names["muscles"].index("soleus_r")]
        print(f"{content['time']:.3f} s  soleus_r {soleus:.0f} N", flush=True)
