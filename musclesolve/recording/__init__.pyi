from .c3d.c3d_file import (
    C3D as C3D,
)
from .c3d.c3d_file import (
    read_c3d as read_c3d,
)
from .cameras.camera_file import (
    CameraFile as CameraFile,
)
from .cameras.camera_file import (
    read_camera_file as read_camera_file,
)
from .cameras.camera_writing import (
    write_camera_file as write_camera_file,
)
from .data import (
    Event as Event,
)
from .data import (
    FilterOptions as FilterOptions,
)
from .data import (
    Gap as Gap,
)
from .data import (
    Markers as Markers,
)
from .data import (
    MuscleOptions as MuscleOptions,
)
from .data import (
    PlateForce as PlateForce,
)
from .data import (
    SharingOptions as SharingOptions,
)
from .data import (
    Subject as Subject,
)
from .data import (
    Table as Table,
)
from .data import (
    Trial as Trial,
)
from .formats import (
    read_forces_table as read_forces_table,
)
from .formats import (
    read_markers as read_markers,
)
from .markers.landmark_names import (
    Landmark as Landmark,
)
from .markers.landmark_names import (
    landmarks as landmarks,
)
from .markers.marker_set import (
    MarkerSet as MarkerSet,
)
from .markers.marker_set import (
    marker_sets as marker_sets,
)
from .text.mot_file import (
    read_mot as read_mot,
)
from .text.mot_file import (
    write_mot as write_mot,
)
from .text.trc_file import (
    read_trc as read_trc,
)
from .text.trc_file import (
    write_trc as write_trc,
)
from .trial.trial_file import (
    read_trial as read_trial,
)
