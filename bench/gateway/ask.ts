/** One request of a scenario, as its clients send it. */
import { once } from 'node:events';
import { Agent, request as send } from 'node:http';
import type { IncomingMessage } from 'node:http';
import type { Contender } from './contenders';
import { PATHS } from './paths';
import type { Scenario } from './scenarios';

const agent = new Agent({ keepAlive: true, maxSockets: Infinity });

/** Closes the connections, which a server may be about to close after a while without requests. */
export function disconnect(): void {
  agent.destroy();
}

const QUESTION = 'How is the weather today?';

/** What a request needs of the server that it is sent to. */
export interface Asked extends Pick<Contender, 'url' | 'vendorUrl'> {
  readonly kind: Pick<Contender['kind'], 'headers' | 'modelOf'>;
}

/** Resolves at the end of the response. @throws Error for one that is not complete */
export async function ask(scenario: Scenario, { url, kind, vendorUrl }: Asked): Promise<void> {
  const { wire, deltas, every = 0, isStored = false } = scenario;
  const model = deltas === undefined ? 'json' : `${deltas}-${every}`;
  const body = JSON.stringify({
    model: kind.modelOf(scenario, model),
    ...(wire === 'openai' ? { input: QUESTION, store: isStored } : { messages: [{ role: 'user', content: QUESTION }] }),
    ...(wire === 'anthropic' ? { max_tokens: 1_000 } : {}),
    ...(deltas === undefined ? {} : { stream: true }),
  });
  const outgoing = send(url + PATHS[wire], {
    agent,
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      'anthropic-version': '2023-06-01',
      ...kind.headers(scenario, vendorUrl),
    },
  });
  outgoing.end(body);
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  let length = 0;
  let tail = '';
  response.on('data', (chunk: Buffer) => {
    length += chunk.length;
    tail = chunk.toString('latin1').slice(-500);
  });
  await once(response, 'end');
  if (response.statusCode !== 200 || length < (deltas ?? 1) * 20)
    throw new Error(`${url} answered ${response.statusCode} with ${length} bytes: ${tail}`);
}
