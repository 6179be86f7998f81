from .muscle_chain import muscle_chain as muscle_chain
from .skeleton import skeleton as skeleton
