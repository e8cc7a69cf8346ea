/** The dashboard's files, which are bundled again only when a source has changed. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { DashboardAssets } from '../imports/host/node/dashboardFiles';
import { readDashboard } from '../imports/host/node/readDashboard';
import { buildCache } from '../scripts/build/BuildCache.cjs';
import { bundleDashboard } from './bundleDashboard';

/** @throws Error if the sources don't compile, or the cache cannot be written */
export async function cachedDashboard(): Promise<DashboardAssets> {
  return readDashboard(buildCache.find('dashboard') ?? (await buildCache.add('dashboard', writeDashboard)));
}

async function writeDashboard(directory: string): Promise<void> {
  for (const [name, contents] of await bundleDashboard()) await writeFile(join(directory, name), contents);
}
