/** The `Mongo` namespace of a browser. */
export * as Mongo from './mongoNamespace';
