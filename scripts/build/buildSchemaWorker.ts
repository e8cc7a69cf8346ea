/** Writes the bundled program of the schema workers into the source tree: `npm run build:worker`. */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { build } from 'esbuild';

const ROOT = path.join(__dirname, '../..');
const DIRECTORY = path.join(ROOT, 'imports/business/ai/application/services/schema/worker');
export const SCHEMA_WORKER_FILE = path.join(DIRECTORY, 'schemaWorkerSource.ts');

/** The text of `schemaWorkerSource.ts`. */
export async function schemaWorkerFile(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [path.join(DIRECTORY, 'schemaWorker.ts')],
    absWorkingDir: ROOT,
    bundle: true,
    minify: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20.19',
    tsconfig: path.join(ROOT, 'tsconfig.node.json'),
    legalComments: 'none',
    charset: 'ascii',
    write: false,
  });
  const [output] = outputFiles;
  if (output === undefined) throw new Error('esbuild wrote no file.');
  return `/** Written by \`npm run build:worker\` from \`schemaWorker.ts\`, with the packages that it imports. */
export const schemaWorkerSource = ${JSON.stringify(output.text.trimEnd())};
`;
}

if (require.main === module) void schemaWorkerFile().then((text) => writeFile(SCHEMA_WORKER_FILE, text));
