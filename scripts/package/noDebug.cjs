/**
 * Stands for `debug` in the package, which `router` writes to. That package would bring others for colors and reads its
 * settings when it is loaded.
 */
module.exports = () => () => undefined;
