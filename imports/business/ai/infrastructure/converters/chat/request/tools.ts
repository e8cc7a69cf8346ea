/**
 * Converts tools and the tool choice to fields of a chat completions request.
 * https://platform.openai.com/docs/api-reference/chat/create#chat-create-tools
 */
import { warnAboutSettings } from '../../shared/omittedSettings';
import { warnAboutCallers } from '../../shared/programmaticTools';
import { ownFieldsOf, without } from '../vendorFields';
import type { WireContext } from '../../Wire';
import type { BuiltInTool, FunctionTool, Tool } from '../../../../domain/entities/Tool';
import { isFunctionTool } from '../../../../domain/entities/Tool';
import { ToolNames } from '../../../../domain/entities/ToolNames';
import { UnsupportedFeatureError } from '../../../../domain/errors/LLMErrors';
import type { ToolChoice } from '../../../../domain/types/LLMTypes';
import type { BuiltInToolForm, JsonObject, VendorQuirks } from '../../../../domain/types/VendorTypes';
import { fieldsOf, isList, isObject } from '../../../../domain/util/json';
import { omitUndefined } from '../../../../domain/util/omitUndefined';
import { unreachable } from '../../../../domain/util/unreachable';

/**
 * @returns `tools`, `tool_choice` and the fields that enable a vendor's built-in tools
 * @throws UnsupportedFeatureError for a tool or a choice that the vendor does not have
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
  const indexes = new Map(tools.map((tool, index) => [tool, index]));
  offered.forEach((tool) => {
    const verbatim = tool.vendor?.openai?.tool;
    if (isFunctionTool(tool)) {
      warnAboutCallers(tool, context.vendor, warnings);
      list.push(toFunction(tool, quirks, warnings));
    } else if (isObject(verbatim)) list.push(verbatim);
    else if (tool.type === CUSTOM) list.push(toCustom(tool));
    else {
      const form = builtInForm(tool, indexes.get(tool) ?? 0, context);
      warnAboutSettings(tool, form.as === 'web_search_options' ? SEARCH_OPTIONS : [], context.vendor, warnings);
      addBuiltInTool(form, tool, list, fields);
    }
  });
  if (list.length === 0) return fields;
  // OpenAI rejects `tool_choice` without `tools`.
  return { ...fields, tools: list, ...omitUndefined({ tool_choice: choice && toChatToolChoice(choice, quirks) }) };
}

type AllowedTools = Extract<ToolChoice, { readonly type: 'allowed_tools' }>;

/** For vendors without `allowed_tools`, offering only the allowed tools has the same effect. */
function onlyAllowed(tools: readonly Tool[], choice: AllowedTools, warnings: string[]): readonly Tool[] {
  warnings.push('Only the tools that "tool_choice" allows were offered.');
  const allowed = new ToolNames(choice.tools);
  return tools.filter((tool) => allowed.has(tool));
}

function toFunction(tool: FunctionTool, quirks: VendorQuirks, warnings: string[]): JsonObject {
  const { function: functionFields, ...own } = ownFieldsOf(isObject(tool.vendor?.openai) ? tool.vendor.openai : {});
  const { name, description, parameters, strict } = tool;
  if (strict === true && !quirks.supportsStrictTools)
    warnings.push(`"strict" was omitted from the tool "${name}": the vendor does not support it.`);
  return {
    type: 'function',
    ...own,
    function: {
      ...fieldsOf(functionFields),
      name,
      ...omitUndefined({ description, parameters }),
      ...(typeof strict === 'boolean' && quirks.supportsStrictTools ? { strict } : {}),
    },
  };
}

/** Tools whose input is free text. The Responses API has the same type, with its fields flat. */
const CUSTOM: string = 'custom';

function toCustom(tool: BuiltInTool): JsonObject {
  const { format } = tool;
  const nested =
    isObject(format) && format.type === 'grammar' ? { type: 'grammar', grammar: without(format, ['type']) } : format;
  return {
    type: 'custom',
    custom: { ...without(tool, ['type', 'blocking', 'vendor', 'format']), ...omitUndefined({ format: nested }) },
  };
}

export function fromCustom(custom: JsonObject): JsonObject {
  const { format } = custom;
  const flat =
    isObject(format) && format.type === 'grammar' && isObject(format.grammar)
      ? { type: 'grammar', ...format.grammar }
      : format;
  return { ...without(custom, ['format']), type: CUSTOM, ...omitUndefined({ format: flat }) };
}

function builtInForm(tool: BuiltInTool, index: number, { quirks, vendor }: WireContext): BuiltInToolForm {
  const form = quirks.builtInTools?.[tool.type];
  if (form === undefined)
    throw new UnsupportedFeatureError(
      `${vendor} has no built-in tool "${tool.type}" in chat completions for this model.`,
      {
        path: `tools[${index}]`,
      },
    );
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

const SEARCH_OPTIONS: readonly string[] = ['search_context_size', 'user_location'];

/** https://platform.openai.com/docs/api-reference/chat/create#chat-create-web_search_options */
function webSearchOptions({ search_context_size, user_location }: BuiltInTool): JsonObject {
  return omitUndefined({
    search_context_size,
    user_location: isObject(user_location)
      ? { type: 'approximate', approximate: without(user_location, ['type']) }
      : undefined,
  });
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
  throw new UnsupportedFeatureError(`In chat completions, "tool_choice" cannot name a "${choice.type}" tool.`, {
    path: 'tool_choice',
  });
}
