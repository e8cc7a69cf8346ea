/**
 * The bill of materials of what Bolide ships: its dependencies with all that they install, and the packages whose code
 * is in its own files. `npm sbom --omit dev` lists neither the latter, which are development dependencies here, nor
 * dependencies that a development dependency needs as well.
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
  /** Needed by development dependencies only. */
  readonly dev?: boolean;
  /** Needed by development dependencies, and by optional ones. */
  readonly devOptional?: boolean;
  /** Needed as somebody's peer only. */
  readonly peer?: boolean;
}

/** Marks components that are part of the package's own files. */
export const BUNDLED_PROPERTY = 'bolide:bundled';

const MODULES = 'node_modules/';

/**
 * @param everything what `npm sbom` prints without options
 * @param bundled names of the packages whose code is in the package's files
 * @throws Error if one of them is not installed
 */
export function selectShippedComponents(
  everything: CycloneDx,
  lock: PackageLock,
  bundled: readonly string[],
): CycloneDx {
  const { component: root } = everything.metadata;
  const bundledRefs = new Set(bundled.map((name) => topLevelRef(lock, name)));
  const dependencies = Object.keys(lock.packages['']?.dependencies ?? {}).map((name) => topLevelRef(lock, name));
  const refs = new Set([root['bom-ref'], ...installedRefs(lock), ...bundledRefs]);
  return {
    ...everything,
    // npm takes the name of the folder.
    metadata: { ...everything.metadata, component: { ...root, name: lock.name } },
    components: everything.components
      .filter((each) => refs.has(each['bom-ref']))
      .map((each) => (bundledRefs.has(each['bom-ref']) ? markBundled(each) : each)),
    dependencies: everything.dependencies.flatMap(({ ref, dependsOn }) => {
      if (ref === root['bom-ref']) return [{ ref, dependsOn: [...new Set([...dependencies, ...bundledRefs])] }];
      return refs.has(ref) ? [{ ref, dependsOn: dependsOn.filter((each) => refs.has(each)) }] : [];
    }),
  };
}

/** What an app gets that installs the package. */
function installedRefs(lock: PackageLock): readonly string[] {
  return Object.entries(lock.packages).flatMap(([path, { version = '', dev, devOptional, peer }]) =>
    path === '' || dev === true || devOptional === true || peer === true
      ? []
      : [`${path.slice(path.lastIndexOf(MODULES) + MODULES.length)}@${version}`],
  );
}

function topLevelRef(lock: PackageLock, name: string): string {
  const version = lock.packages[MODULES + name]?.version;
  if (version === undefined)
    throw new Error(`The package ${name} is not in package-lock.json, so it cannot be listed. Run: npm install.`);
  return `${name}@${version}`;
}

function markBundled(component: Component): Component {
  return {
    ...component,
    properties: [...(component.properties ?? []), { name: BUNDLED_PROPERTY, value: 'true' }],
  };
}
