/** Reads the dashboard that was bundled when the npm package was built. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { LLMInvalidRequestError } from '../../business/ai/domain/errors/LLMErrors';
import type { DashboardAssets } from './dashboardFiles';

/**
 * @param directory default: the folder `dashboard` beside the file that contains this function
 * @throws LLMInvalidRequestError if the directory cannot be read
 */
export async function readDashboard(directory = join(__dirname, 'dashboard')): Promise<DashboardAssets> {
  try {
    const names = await readdir(directory);
    return new Map(
      await Promise.all(names.map(async (name) => [name, await readFile(join(directory, name))] as const)),
    );
  } catch (cause) {
    throw new LLMInvalidRequestError(
      `Cannot read the dashboard's files in "${directory}". If a bundler moved this code, leave the package "bolide" out of the bundle, or start the server with "dashboard: false".`,
      { cause, path: 'dashboard' },
    );
  }
}
