from .motion_frames import MotionWeights as MotionWeights
from .motion_program import motion_program as motion_program
from .muscle_chain import muscle_chain as muscle_chain
from .skeleton import skeleton as skeleton
