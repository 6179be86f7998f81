"""Live muscle forces in a program of your own, with the standard library alone: a start for a controller.

One learns what the datagrams of `musclesolve live TRIAL.toml --from SOURCE --to udp:5006` hold: once a second the
names, and for each sample the forces, with `valid` for each leg. Start with `python receive_forces.py`, and end with
Ctrl-C. A frame that is not valid has no number that a controller may use.
"""

import json
import socket
import sys

receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
receiver.bind(("127.0.0.1", int(sys.argv[1]) if len(sys.argv) > 1 else 5006))
receiver.settimeout(60.0)  # [s]
names = None
while True:
    content = json.loads(receiver.recv(65536))
    if content["kind"] == "names":
        names = content
    elif names:
        valid, soleus = content["valid"][names["sides"].index("r")], names["muscles"].index("soleus_r")
        force = f"soleus_r {content['force'][soleus]:.0f} N" if valid else "right leg not valid"
        print(f"{content['time']:.3f} s  {force}", flush=True)
