/** Ten servers of the official SDK over HTTP, with many tools, of which a run needs one. */
import { McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { serveMcp, withSessions } from './serveMcp';

const SERVERS = ['mail', 'files', 'issues', 'calendar', 'crm', 'wiki', 'billing', 'chat', 'deploy', 'weather'] as const;
const VERBS = ['create', 'delete', 'list', 'update', 'export'] as const;
const OBJECTS = ['record', 'folder', 'comment', 'label'] as const;

/** The tool of the server `weather` that a run needs, and words that find it. */
export const WANTED = { tool: 'get_weather', query: 'the weather in a city' } as const;

export interface ManyServersOptions {
  /** The number of servers, one of which has the wanted tool; up to 10. */
  readonly servers: number;
  /** Up to 20. */
  readonly perServer: number;
  readonly onWeather?: (city: string) => void;
}

export interface ManyServers {
  readonly servers: readonly { readonly name: string; readonly url: string }[];
  close(): Promise<void>;
}

export async function serveManyTools({ servers, perServer, onWeather }: ManyServersOptions): Promise<ManyServers> {
  const names = SERVERS.slice(SERVERS.length - servers);
  const served = await Promise.all(
    names.map((name) => serveMcp(withSessions(() => createServer(name, perServer, onWeather)))),
  );
  return {
    servers: names.map((name, index) => ({ name, url: served[index]?.url ?? '' })),
    async close() {
      await Promise.all(served.map((each) => each.close()));
    },
  };
}

function createServer(name: string, count: number, onWeather: ManyServersOptions['onWeather']): McpServer {
  const server = new McpServer({ name, version: '1.0.0' });
  const others = name === 'weather' ? count - 1 : count;
  for (const [verb, object] of VERBS.flatMap((verb) => OBJECTS.map((object) => [verb, object] as const)).slice(
    0,
    others,
  ))
    server.registerTool(
      `${verb}_${object}`,
      {
        description: `Will ${verb} a ${object} of the ${name} server. The ${object} must belong to the workspace.`,
        inputSchema: z.object({
          workspace: z.string().describe('The id of the workspace, as the list of workspaces has it.'),
          [`${object}_id`]: z.string().optional().describe(`Which ${object} it is about, as its address has it.`),
          dry_run: z.boolean().optional().describe('Only say what would happen, and change nothing.'),
        }),
      },
      () => ({ content: [{ type: 'text', text: `${verb} ${object}: done` }] }),
    );
  if (name === 'weather')
    server.registerTool(
      WANTED.tool,
      {
        description: 'The weather in a city',
        inputSchema: z.object({ city: z.string().describe('A city'), unit: z.enum(['celsius', 'fahrenheit']) }),
      },
      ({ city, unit }) => {
        onWeather?.(city);
        return { content: [{ type: 'text', text: JSON.stringify({ city, degrees: 21, unit }) }] };
      },
    );
  return server;
}
