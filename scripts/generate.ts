/** Writes what follows from the definitions of operations and of settings and cannot be computed where it is used. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startServer } from '../imports/host/node/startServer';
import { OPERATIONS } from '../imports/host/operations';
import { configurationReference } from './generate/configurationReference';
import { cachedDashboard } from '../server/cachedDashboard';
import { dashboardTable } from './generate/dashboardTable';
import { methodTable } from './generate/methodTable';
import { ALL_ROUTES, routeReview } from './generate/routeReview';
import { operationReference } from './generate/operationReference';

const TABLE = 'imports/ui/data/operationTable.ts';
const METHODS = 'imports/ui/data/meteor/methodTable.ts';
const REFERENCE = 'docs/reference/operations.md';
const CONFIGURATION = 'docs/reference/configuration.md';
const REVIEW = 'docs/reference/routes-in-browsers.md';

writeFileSync(
  TABLE,
  `/** Written by \`npm run generate\` from the definitions of operations. */
import type { OPERATIONS } from '../../host/operations';
import type { OperationEntry } from './OperationEntry';

export const OPERATION_TABLE: Readonly<Record<(typeof OPERATIONS)[number]['name'], OperationEntry>> = ${JSON.stringify(dashboardTable(OPERATIONS))};
`,
);
writeFileSync(
  METHODS,
  `/** Written by \`npm run generate\` from the definitions of operations. */
import type { MethodKinds } from './MethodKinds';

export const METHOD_TABLE = ${JSON.stringify(methodTable(OPERATIONS))} as const satisfies MethodKinds;
`,
);
writeFileSync(REFERENCE, operationReference(OPERATIONS));
writeFileSync(CONFIGURATION, configurationReference(readFileSync(CONFIGURATION, 'utf8')));
execFileSync('oxfmt', [TABLE, METHODS], { stdio: 'inherit' });

async function reviewRoutes(): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'bolide-routes-'));
  const server = await startServer({
    env: { ...ALL_ROUTES, PORT: '0', DATA_DIR: directory },
    dashboard: cachedDashboard,
  });
  try {
    return await routeReview(server);
  } finally {
    await server.close();
    rmSync(directory, { recursive: true });
  }
}

void reviewRoutes().then((page) => writeFileSync(REVIEW, page));
