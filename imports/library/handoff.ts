/** A tool that hands a conversation over to another agent. */
import type { SchemaInput } from '../business/ai/domain/types/Schemas';
import type { RegisteredTool } from '../business/ai/infrastructure/tools/ToolRegistry';
import { LLMInvalidRequestError } from '../business/ai/domain/errors/LLMErrors';
import { invalid } from '../business/ai/domain/util/arguments';
import { Agent, HANDOFFS } from './Agent';
import type { HandoffAgent } from './Agent';
import { checkTool } from './tool';

export interface HandoffOptions {
  /** What the model is told of the agent, such as `billing`; `hand_over_to_billing` is then the tool. */
  readonly name: string;
  /** When the model is to hand over, in a sentence. */
  readonly when: string;
  /** The schema of what the model passes on with it. Default: nothing, since the agent has the whole conversation. */
  readonly input?: SchemaInput;
  /** When the agent is to hand the conversation back, in a sentence. Default: it cannot. */
  readonly back?: string;
}

/**
 * Once the call has completed, the run goes on with the agent's instructions, model and tools. Everything else stays
 * the run's: its user, its limits and budget, and the calls that are under way, whose results the agent gets.
 * @throws LLMInvalidRequestError, whose `path` names the invalid field
 */
export function handoff(agent: Agent, { name, when, input, back }: HandoffOptions): RegisteredTool {
  // Boundary: callers without types pass anything.
  if (!((agent as unknown) instanceof Agent)) throw invalid('agent', 'must be an agent');
  if (typeof when !== 'string' || when === '')
    throw new LLMInvalidRequestError('"when" is required.', { path: 'when' });
  if (back !== undefined && (typeof back !== 'string' || back === '')) throw invalid('back', 'must be a sentence');
  const to = returning(agent.asHandoff(), name, back);
  const tool: RegisteredTool = {
    name: `hand_over_to_${name}`,
    description: `Hands the conversation over to the agent "${name}". ${when}`,
    parameters: input,
    idempotent: true,
    readOnly: true,
    handoff: to.handoff,
    execute: () => ({
      speaker: name,
      note: `You are the agent "${name}" from here on, and go on with the conversation.`,
    }),
  };
  checkTool(tool, '');
  HANDOFFS.set(tool, to);
  return tool;
}

/** Gives the agent a tool with which it hands the conversation back to the one that it has it from. */
function returning(to: HandoffAgent, name: string, back: string | undefined): HandoffAgent {
  if (back === undefined) return to;
  const tool: RegisteredTool = {
    name: `hand_back_from_${name}`,
    description: `Hands the conversation back to the agent that had it before. ${back}`,
    idempotent: true,
    readOnly: true,
    handoff: { isBack: true },
    execute: () => ({ note: `The agent "${name}" has handed the conversation back, and you go on with it.` }),
  };
  checkTool(tool, '');
  const { handoff: agent, tools, names } = to;
  return {
    handoff: { ...agent, tools: [...agent.tools, { type: 'function', name: tool.name }] },
    tools: [...tools, tool],
    names: [...names, tool.name],
  };
}
