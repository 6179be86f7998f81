"""A run with flight, periodic and in exact balance."""
