/** Writes what follows from the definitions of operations and of settings and cannot be computed where it is used. */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { OPERATIONS } from '../imports/host/operations';
import { configurationReference } from './generate/configurationReference';
import { dashboardTable } from './generate/dashboardTable';
import { operationReference } from './generate/operationReference';

const TABLE = 'imports/ui/data/operationTable.ts';
const REFERENCE = 'docs/reference/operations.md';
const CONFIGURATION = 'docs/reference/configuration.md';

writeFileSync(
  TABLE,
  `/** Written by \`npm run generate\` from the definitions of operations. */
import type { OPERATIONS } from '../../host/operations';
import type { OperationEntry } from './OperationEntry';

export const OPERATION_TABLE: Readonly<Record<(typeof OPERATIONS)[number]['name'], OperationEntry>> = ${JSON.stringify(dashboardTable(OPERATIONS))};
`,
);
writeFileSync(REFERENCE, operationReference(OPERATIONS));
writeFileSync(CONFIGURATION, configurationReference(readFileSync(CONFIGURATION, 'utf8')));
execFileSync('oxfmt', [TABLE], { stdio: 'inherit' });
