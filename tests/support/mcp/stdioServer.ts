/** A child process that serves the test server over stdio. MCP_VERSION makes it one that knows no newer revision. */
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { createState, createTestServer } from './testServer';

console.error('ready to serve');
const version = process.env.MCP_VERSION;
const state = createState();
if (version === undefined) serveStdio(() => createTestServer(state));
else void createTestServer(state, [version]).connect(new StdioServerTransport());
