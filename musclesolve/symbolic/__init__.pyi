from .joint_reactions import joint_reactions as joint_reactions
from .motion_frames import MotionWeights as MotionWeights
from .motion_program import motion_program as motion_program
from .muscle_chain import muscle_chain as muscle_chain
from .prediction import predicted_motion as predicted_motion
from .skeleton import skeleton as skeleton
from .smooth_contact import SmoothContact as SmoothContact
