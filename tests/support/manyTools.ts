/** Servers with many tools, of which a run needs one. */
import type { SourceTool, ToolSource } from '../../imports/business/ai/domain/interfaces/ToolSource';
import { ToolRegistry } from '../../imports/business/ai/infrastructure/tools/ToolRegistry';

const SERVERS = ['mail', 'files', 'issues', 'calendar', 'crm', 'wiki', 'billing', 'chat', 'deploy', 'metrics'] as const;
const VERBS = ['create', 'delete', 'list', 'update', 'export'] as const;
const OBJECTS = ['record', 'folder', 'comment', 'label'] as const;

/** What a run asks for, the words that find it, and the tool. */
export const WANTED = { query: 'refund an invoice', name: 'billing_refund_invoice' } as const;

export interface ManyToolsOptions {
  readonly servers?: number;
  readonly perServer?: number;
  readonly fields?: Partial<SourceTool>;
  readonly onRefund?: (args: unknown) => void;
}

/** Returns tools as MCP servers offer them: automatically deferred, with schemas of some length. */
export async function manyTools(options: ManyToolsOptions = {}): Promise<ToolRegistry> {
  const { servers = 10, perServer = 20, fields = {}, onRefund } = options;
  const registry = new ToolRegistry();
  const others = SERVERS.filter((name) => name !== 'billing').slice(0, servers - 1);
  for (const server of [...others, 'billing']) {
    const tools = toolsOf(server, perServer).map((tool) => ({ ...tool, ...fields }));
    if (server === 'billing') tools[perServer - 1] = { ...refund(onRefund), ...fields };
    await registry.addSource(sourceOf(server, tools));
  }
  return registry;
}

function toolsOf(server: string, count: number): SourceTool[] {
  return VERBS.flatMap((verb) => OBJECTS.map((object) => [verb, object] as const))
    .slice(0, count)
    .map(([verb, object]) => ({
      name: `${server}_${verb}_${object}`,
      description: `Will ${verb} a ${object} of the ${server} server. The ${object} must belong to the workspace.`,
      parameters: {
        type: 'object',
        properties: {
          workspace: { type: 'string', description: 'The id of the workspace, as the list of workspaces has it.' },
          [`${object}_id`]: { type: 'string', description: `Which ${object} it is about, as its address has it.` },
          dry_run: { type: 'boolean', description: 'Only say what would happen, and change nothing.' },
        },
        required: ['workspace'],
      },
      deferLoading: 'auto',
      execute: () => `${verb} ${object}: done`,
    }));
}

function refund(onRefund: ManyToolsOptions['onRefund']): SourceTool {
  return {
    name: WANTED.name,
    description: 'Pays the amount of an invoice back to the customer.',
    parameters: {
      type: 'object',
      properties: { invoice: { type: 'integer', description: 'The number of the invoice.' } },
      required: ['invoice'],
    },
    deferLoading: 'auto',
    execute: (args) => {
      onRefund?.(args);
      return 'refunded';
    },
  };
}

function sourceOf(name: string, tools: readonly SourceTool[]): ToolSource {
  return { name, list: () => Promise.resolve(tools), onChange: () => () => undefined, close: () => Promise.resolve() };
}
