/** Part of the npm package, which contains the vendors' SDKs: finds those that the app has installed. */

/**
 * @param contained the version of the copy in the package, which is one file in place of more than 200
 * @returns undefined unless the app has the SDK in a newer version of the same major version
 */
export async function importInstalled(name: string, contained: string): Promise<unknown> {
  const version = await installedVersion(name);
  if (version === undefined || !isNewer(version, contained)) return undefined;
  return import(/* webpackIgnore: true */ /* @vite-ignore */ name);
}

/** The version that the SDK reports to its vendor. */
async function installedVersion(name: string): Promise<string | undefined> {
  const file = `${name}/version`;
  try {
    const { VERSION } = (await import(/* webpackIgnore: true */ /* @vite-ignore */ file)) as { VERSION?: string };
    return VERSION;
  } catch (error) {
    if (error instanceof Error && 'code' in error && MISSING.has(error.code)) return undefined;
    throw error;
  }
}

/** The codes of Node for a package that is not installed, and for one that has no such file. */
const MISSING: ReadonlySet<unknown> = new Set(['ERR_MODULE_NOT_FOUND', 'ERR_PACKAGE_PATH_NOT_EXPORTED']);

function isNewer(version: string, contained: string): boolean {
  const [major = 0, minor = 0, patch = 0] = version.split(/[.-]/).map(Number);
  const [ownMajor = 0, ownMinor = 0, ownPatch = 0] = contained.split(/[.-]/).map(Number);
  return major === ownMajor && (minor > ownMinor || (minor === ownMinor && patch > ownPatch));
}
