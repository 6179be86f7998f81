"""The reference stride of level walking, in exact balance."""
