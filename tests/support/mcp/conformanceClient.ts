/** The program that the protocol's conformance suite runs as the client. Its last argument is the server's URL. */
import { valuesOf } from '../../../imports/business/ai/application/services/tools/inputValues';
import { mcp } from '../../../imports/business/mcp/mcp';

const ARGUMENTS: Readonly<Record<string, unknown>> = { add_numbers: { a: 5, b: 3 } };

async function main(): Promise<void> {
  const callbacks: URLSearchParams[] = [];
  const context = JSON.parse(process.env['MCP_CONFORMANCE_CONTEXT'] ?? '{}') as Record<string, string | undefined>;
  let account: string | undefined;
  const source = mcp({
    name: 'conformance',
    url: process.argv.at(-1) ?? '',
    allowPrivateHosts: ['localhost'],
    oauth: {
      redirectUrl: 'http://localhost:3000/callback',
      clientMetadataUrl: 'https://conformance-test.local/client-metadata.json',
      ...(context['client_id'] === undefined ? {} : { clientId: context['client_id'] }),
      ...(context['client_secret'] === undefined ? {} : { clientSecret: context['client_secret'] }),
      store: {
        load: () => Promise.resolve(account),
        save: (given) => {
          account = given;
          return Promise.resolve();
        },
      },
      // The person's browser.
      onAuthorize: async (url) => {
        const { headers } = await fetch(url, { redirect: 'manual' });
        callbacks.push(new URL(headers.get('location') ?? '').searchParams);
      },
    },
  });
  /** Again after each sign-in that it causes. */
  const signedIn = async <T>(work: () => Promise<T>): Promise<T> => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await work();
      } catch (error) {
        const callback = callbacks.shift();
        if (callback === undefined || attempt > 2) throw error;
        await source.finishAuthorization(callback);
      }
    }
  };
  for (const { name, execute } of await signedIn(() => source.list()))
    await signedIn(async () =>
      execute?.(ARGUMENTS[name.replace('conformance_', '')] ?? {}, {
        signal: new AbortController().signal,
        userId: 'u',
        callId: 'c',
        executionId: 'e',
        idempotencyKey: 'e:c',
        progress: () => undefined,
        requestInput: ({ schema }) =>
          Promise.resolve({ action: 'accept', values: valuesOf(schema, {}) as Record<string, never> }),
      }),
    );
  await source.close();
}

void main();
