/** The `Mongo` namespace on the server. */
export { Collection } from './Collection';
export { Cursor } from './Cursor';
