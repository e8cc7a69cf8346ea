/**
 * A server that offers a non-blocking tool over MCP, for tests that kill it. Argument: the data directory. It prints
 * where it is reached, with a token, and each call of the tool, which never ends.
 */
import { ToolRegistry } from '../../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { startServer } from '../../../imports/host/node/startServer';

async function main([place = '']: readonly string[]): Promise<void> {
  const tools = new ToolRegistry().register({
    name: 'report',
    blocking: false,
    execute: () => {
      print('called');
      return new Promise<never>(() => undefined);
    },
  });
  const env = { PORT: '0', DATA_DIR: place, MCP_TOOLS: 'report' };
  const { url, token } = await startServer({ env, tools, dashboard: false });
  print(`ready ${url} ${token}`);
}

/** On POSIX, pipes are written synchronously, so the line arrives even if the process is killed next. */
function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

main(process.argv.slice(2)).catch((error: unknown) => {
  print(`failed ${String(error)}`);
  process.exit(1);
});
