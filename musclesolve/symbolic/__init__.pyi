from .muscle_chain import muscle_chain as muscle_chain
from .sharing_program import sharing_program as sharing_program
