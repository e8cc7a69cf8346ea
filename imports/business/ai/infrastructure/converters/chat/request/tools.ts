/** Tools and the choice among them, as the chat wire writes them. */
import { without } from '../chatJson';
import { ownFieldsOf } from '../vendorFields';
import type { WireContext } from '../../Wire';
import type { BuiltInTool, FunctionTool, Tool } from '../../../../domain/entities/Tool';
import { isFunctionTool } from '../../../../domain/entities/Tool';
import { UnsupportedFeatureError } from '../../../../domain/errors/LLMErrors';
import type { ToolChoice } from '../../../../domain/types/LLMTypes';
import type { BuiltInToolForm, JsonObject, VendorQuirks } from '../../../../domain/types/VendorTypes';
import { fieldsOf, isList, isObject } from '../../../../domain/json';
import { unreachable } from '../../../../domain/unreachable';

/**
 * The fields `tools`, `tool_choice` and those by which a host's own tools are asked for.
 * @throws UnsupportedFeatureError for a tool, or a choice, that the host does not have
 */
export function toChatTools(
  tools: readonly Tool[],
  choice: ToolChoice | undefined,
  context: WireContext,
  warnings: string[],
): JsonObject {
  const { quirks } = context;
  const offered =
    typeof choice === 'object' && choice.type === 'allowed_tools' && quirks.supportsAllowedTools !== true
      ? onlyAllowed(tools, choice, warnings)
      : tools;
  const fields: JsonObject = {};
  const list: JsonObject[] = [];
  offered.forEach((tool, index) => {
    const verbatim = tool.vendor?.openai?.tool;
    if (isFunctionTool(tool)) list.push(toFunction(tool, quirks, warnings));
    else if (isObject(verbatim)) list.push(verbatim);
    else if (tool.type === CUSTOM) list.push(toCustom(tool));
    else addBuiltInTool(builtInForm(tool, index, context), tool, list, fields);
  });
  if (list.length === 0) return fields;
  // OpenAI refuses a choice among nothing.
  return { ...fields, tools: list, ...(choice === undefined ? {} : { tool_choice: toChatToolChoice(choice, quirks) }) };
}

type AllowedTools = Extract<ToolChoice, { readonly type: 'allowed_tools' }>;

/** Offering only the allowed ones says the same to a host that knows no list of them. */
function onlyAllowed(tools: readonly Tool[], choice: AllowedTools, warnings: string[]): readonly Tool[] {
  warnings.push('tool_choice names allowed tools: only these are offered');
  return tools.filter((tool) =>
    choice.tools.some(
      (allowed) => allowed.type === tool.type && (allowed.name === undefined || allowed.name === tool.name),
    ),
  );
}

function toFunction(tool: FunctionTool, quirks: VendorQuirks, warnings: string[]): JsonObject {
  const { function: functionFields, ...own } = ownFieldsOf(isObject(tool.vendor?.openai) ? tool.vendor.openai : {});
  const { name, description, parameters, strict } = tool;
  if (strict === true && !quirks.supportsStrictTools) warnings.push(`strict was left out of the tool ${name}`);
  return {
    type: 'function',
    ...own,
    function: {
      ...fieldsOf(functionFields),
      name,
      ...(description === undefined ? {} : { description }),
      ...(parameters === undefined ? {} : { parameters }),
      ...(typeof strict === 'boolean' && quirks.supportsStrictTools ? { strict } : {}),
    },
  };
}

/** Tools that take free text. The list of built-in types is open, and the Responses wire has the same kind, flat. */
const CUSTOM: string = 'custom';

function toCustom(tool: BuiltInTool): JsonObject {
  const { format } = tool;
  const nested =
    isObject(format) && format.type === 'grammar' ? { type: 'grammar', grammar: without(format, ['type']) } : format;
  return {
    type: 'custom',
    custom: {
      ...without(tool, ['type', 'blocking', 'vendor', 'format']),
      ...(nested === undefined ? {} : { format: nested }),
    },
  };
}

export function fromCustom(custom: JsonObject): JsonObject {
  const { format } = custom;
  const flat =
    isObject(format) && format.type === 'grammar' && isObject(format.grammar)
      ? { type: 'grammar', ...format.grammar }
      : format;
  return { ...without(custom, ['format']), type: CUSTOM, ...(flat === undefined ? {} : { format: flat }) };
}

function builtInForm(tool: BuiltInTool, index: number, { quirks, vendor }: WireContext): BuiltInToolForm {
  const form = quirks.builtInTools?.[tool.type];
  if (form === undefined)
    throw new UnsupportedFeatureError(`${vendor} has no ${tool.type} in chat completions for this model.`, {
      path: `tools[${index}]`,
    });
  return form;
}

function addBuiltInTool(form: BuiltInToolForm, tool: BuiltInTool, list: JsonObject[], fields: JsonObject): void {
  switch (form.as) {
    case 'tool':
      list.push({ type: form.type });
      return;
    case 'enabled_tool': {
      const enabled =
        isObject(fields.compound_custom) && isObject(fields.compound_custom.tools)
          ? fields.compound_custom.tools.enabled_tools
          : undefined;
      fields.compound_custom = { tools: { enabled_tools: [...(isList(enabled) ? enabled : []), form.name] } };
      return;
    }
    case 'web_search_options':
      fields.web_search_options = webSearchOptions(tool);
      return;
    default:
      unreachable(form);
  }
}

/** https://platform.openai.com/docs/api-reference/chat/create#chat-create-web_search_options */
function webSearchOptions({ search_context_size, user_location }: BuiltInTool): JsonObject {
  return {
    ...(search_context_size === undefined ? {} : { search_context_size }),
    ...(isObject(user_location)
      ? { user_location: { type: 'approximate', approximate: without(user_location, ['type']) } }
      : {}),
  };
}

function toChatToolChoice(choice: ToolChoice, quirks: VendorQuirks): unknown {
  if (typeof choice === 'string') return choice;
  if (choice.type === 'function') return { type: 'function', function: { name: choice.name } };
  if (choice.type === 'allowed_tools') {
    const mode = choice.mode ?? 'auto';
    if (quirks.supportsAllowedTools !== true) return mode;
    return {
      type: 'allowed_tools',
      allowed_tools: {
        mode,
        tools: choice.tools.map(({ type, name }) => (name === undefined ? { type } : { type, [type]: { name } })),
      },
    };
  }
  if ((choice.type as string) === CUSTOM) return { type: CUSTOM, custom: { name: choice.name } };
  throw new UnsupportedFeatureError(`tool_choice cannot name ${choice.type} in chat completions.`, {
    path: 'tool_choice',
  });
}
