/**
 * The bill of materials of what Bolide ships: its dependencies with all that they install, and the packages whose code
 * is in its own files. `npm sbom` describes this repository, which is a Meteor app with dependencies of its own.
 */

/** https://cyclonedx.org/docs/1.5/json/ */
export interface CycloneDx {
  readonly metadata: { readonly component: Component };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

interface Component {
  /** `name@version`. */
  readonly 'bom-ref': string;
  readonly name: string;
  readonly properties?: readonly { readonly name: string; readonly value: string }[];
}

/** `package-lock.json`, as far as it is read. */
export interface PackageLock {
  readonly name: string;
  /** By path; '' is the project itself. */
  readonly packages: Readonly<Record<string, LockedPackage>>;
}

interface LockedPackage {
  readonly version?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/** Marks components that are part of the package's own files. */
export const BUNDLED_PROPERTY = 'bolide:bundled';

const MODULES = 'node_modules/';

/**
 * @param everything what `npm sbom` prints without options
 * @param dependencies names of the package's own dependencies
 * @param bundled names of the packages whose code is in the package's files
 * @throws Error if one of them is not installed
 */
export function selectShippedComponents(
  everything: CycloneDx,
  lock: PackageLock,
  dependencies: readonly string[],
  bundled: readonly string[],
): CycloneDx {
  const { component: root } = everything.metadata;
  const refOf = (name: string): string => refAt(lock, locate(lock, name, ''));
  const bundledRefs = new Set(bundled.map(refOf));
  const refs = new Set([root['bom-ref'], ...installedRefs(lock, dependencies), ...bundledRefs]);
  return {
    ...everything,
    // npm takes the name of the folder.
    metadata: { ...everything.metadata, component: { ...root, name: lock.name } },
    components: everything.components
      .filter((each) => refs.has(each['bom-ref']))
      .map((each) => (bundledRefs.has(each['bom-ref']) ? markBundled(each) : each)),
    dependencies: everything.dependencies.flatMap(({ ref, dependsOn }) => {
      if (ref === root['bom-ref'])
        return [{ ref, dependsOn: [...new Set([...dependencies.map(refOf), ...bundledRefs])] }];
      return refs.has(ref) ? [{ ref, dependsOn: dependsOn.filter((each) => refs.has(each)) }] : [];
    }),
  };
}

/** What an app gets that installs the package. */
function installedRefs(lock: PackageLock, dependencies: readonly string[]): readonly string[] {
  const paths = new Set(dependencies.map((name) => locate(lock, name, '')));
  // A set's iterator visits what is added on the way.
  for (const path of paths) {
    const { dependencies: needed = {}, optionalDependencies: optional = {} } = lock.packages[path] ?? {};
    for (const name of Object.keys({ ...needed, ...optional })) paths.add(locate(lock, name, path));
  }
  return [...paths].map((path) => refAt(lock, path));
}

/** Where Node finds a package that the package at `from` requires. */
function locate(lock: PackageLock, name: string, from: string): string {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf(`/${MODULES}`)))) {
    const path = `${folder}${folder === '' ? '' : '/'}${MODULES}${name}`;
    if (path in lock.packages) return path;
    if (folder === '')
      throw new Error(`The package ${name} is not in package-lock.json, so it cannot be listed. Run: npm install.`);
  }
}

function refAt(lock: PackageLock, path: string): string {
  return `${path.slice(path.lastIndexOf(MODULES) + MODULES.length)}@${lock.packages[path]?.version ?? ''}`;
}

function markBundled(component: Component): Component {
  return {
    ...component,
    properties: [...(component.properties ?? []), { name: BUNDLED_PROPERTY, value: 'true' }],
  };
}
