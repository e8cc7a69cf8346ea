/** The program that the protocol's conformance suite runs as the client. Its last argument is the server's URL. */
import { valuesOf } from '../../../imports/business/ai/application/services/tools/inputValues';
import { mcp } from '../../../imports/business/ai/infrastructure/factories/mcp';

const ARGUMENTS: Readonly<Record<string, unknown>> = { add_numbers: { a: 5, b: 3 } };

async function main(): Promise<void> {
  const source = mcp({ name: 'conformance', url: process.argv.at(-1) ?? '', allowPrivateHosts: ['localhost'] });
  for (const { name, execute } of await source.list())
    await execute?.(ARGUMENTS[name.replace('conformance_', '')] ?? {}, {
      signal: new AbortController().signal,
      userId: 'u',
      callId: 'c',
      executionId: 'e',
      idempotencyKey: 'e:c',
      progress: () => undefined,
      requestInput: ({ schema }) =>
        Promise.resolve({ action: 'accept', values: valuesOf(schema, {}) as Record<string, never> }),
    });
  await source.close();
}

void main();
