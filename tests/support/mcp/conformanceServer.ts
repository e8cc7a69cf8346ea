/** The tools that the protocol's conformance suite calls, offered over MCP, and a proxy that adds the token. */
import { createServer, request as sendRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ImageResult } from '../../../imports/business/ai/domain/entities/ImageResult';
import { ToolRegistry } from '../../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { startServer } from '../../../imports/host/node/startServer';

const RED_PIXEL =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';

export interface ConformanceServer {
  readonly url: string;
  close(): Promise<void>;
}

export async function startConformanceServer(directory: string): Promise<ConformanceServer> {
  const tools = new ToolRegistry()
    .register({
      name: 'test_simple_text',
      description: 'Returns a text.',
      execute: () => 'This is a simple text response for testing.',
    })
    .register({
      name: 'test_image_content',
      description: 'Shows an image.',
      execute: () => new ImageResult('A red pixel.', [{ type: 'input_image', image_url: RED_PIXEL }]),
    })
    .register({
      name: 'test_error_handling',
      description: 'Fails.',
      execute: () => {
        throw new Error('This tool intentionally returns an error for testing');
      },
    })
    .register({
      name: 'test_tool_with_progress',
      description: 'Reports progress.',
      execute: async (_: Record<string, never>, { progress }) => {
        for (const step of [0, 0.5, 1]) {
          progress(step);
          await new Promise((resolve) => setTimeout(resolve, 300));
        }
        return 'done';
      },
    })
    .register({
      name: 'json_schema_2020_12_tool',
      description: 'Has a schema of JSON Schema 2020-12.',
      parameters: {
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        type: 'object',
        $defs: {
          address: { type: 'object', properties: { street: { type: 'string' }, city: { type: 'string' } } },
        },
        properties: { name: { type: 'string' }, address: { $ref: '#/$defs/address' } },
        additionalProperties: false,
      },
      execute: () => 'ok',
    });
  const server = await startServer({
    env: { PORT: '0', DATA_DIR: directory, MCP_TOOLS: '*' },
    tools,
    dashboard: false,
  });
  const { hostname, port } = new URL(server.url);
  // The suite sends no tokens.
  const proxy = createServer((incoming, outgoing) => {
    const { method = 'GET', url: path = '/', headers } = incoming;
    const forwarded = sendRequest(
      { hostname, port, method, path, headers: { ...headers, authorization: `Bearer ${server.token}` } },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
      },
    );
    forwarded.on('error', () => outgoing.destroy());
    outgoing.on('close', () => forwarded.destroy());
    incoming.pipe(forwarded);
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/mcp`,
    async close() {
      proxy.close();
      proxy.closeAllConnections();
      await server.close();
    },
  };
}
