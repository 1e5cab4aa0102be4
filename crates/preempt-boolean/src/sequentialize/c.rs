use super::skeleton::Skeleton;
pub fn program(_: &Skeleton) -> String {
    String::new()
}
