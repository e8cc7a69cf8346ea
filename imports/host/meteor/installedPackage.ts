/** The packages of a Meteor app, which Meteor lists in the global variable `Package` on servers and clients. */

/** @returns the package's exports, or undefined if the app does not have it */
export function installedPackage(name: string): unknown {
  const { Package: packages } = globalThis as { Package?: Readonly<Record<string, unknown>> };
  return packages?.[name];
}
