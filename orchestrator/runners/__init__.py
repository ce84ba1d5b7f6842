"""What builds the walls: each module renders one `LaunchPlan`; none decides a mount.

Imports `contracts` and its siblings below the faces.
"""
