/**
 * A vendor that calls tools of MCP servers itself asks before it does, unless the request says otherwise. It asks by a
 * call of a function that the model is not offered: a person approves or rejects it like any call, and the vendor is
 * given the decision. https://developers.openai.com/api/docs/guides/tools-connectors-mcp#approvals
 */
import { isFunctionTool } from '../../../domain/entities/Tool';
import type { FunctionTool, Tool } from '../../../domain/entities/Tool';
import type { OfferedTool, ToolSet } from './ToolSet';

const NAME = 'mcp_approval';

const definition: FunctionTool = {
  type: 'function',
  name: NAME,
  description: 'Lets the vendor call a tool of an MCP server.',
  needsApproval: true,
  // The vendor has its effect, once it has the decision.
  idempotent: true,
  native: { type: 'mcp_approval' },
};

const approval: OfferedTool = { definition, validate: (args) => args, execute: () => 'approved' };

export function isMcpApproval(tool: Tool): boolean {
  return isFunctionTool(tool) && tool.native?.type === 'mcp_approval';
}

/** The tools, with approvals if a vendor may ask for them. */
export function withMcpApproval(tools: ToolSet): ToolSet {
  const mayAsk = tools.tools.some((tool) => tool.type === 'mcp' && tool.require_approval !== 'never');
  return mayAsk && tools.get(NAME) === undefined ? tools.with(approval) : tools;
}
