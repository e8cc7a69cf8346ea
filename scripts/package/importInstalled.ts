/** Part of the npm package, which contains the vendors' SDKs: finds those that the app has installed. */

/**
 * @param minimum the oldest version that Bolide works with; those of other major versions are not used
 * @returns undefined unless the app has the SDK in such a version
 */
export async function importInstalled(name: string, minimum: string): Promise<unknown> {
  const version = await installedVersion(name);
  if (version === undefined || !isCompatible(version, minimum)) return undefined;
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

function isCompatible(version: string, minimum: string): boolean {
  const [major = 0, minor = 0, patch = 0] = version.split(/[.-]/).map(Number);
  const [minimumMajor = 0, minimumMinor = 0, minimumPatch = 0] = minimum.split('.').map(Number);
  if (major !== minimumMajor) return false;
  return minor > minimumMinor || (minor === minimumMinor && patch >= minimumPatch);
}
