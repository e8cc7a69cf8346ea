/**
 * A custom tool, whose input is free text, as the form of a function with the one argument `input`. The Chat wire has
 * the same items. https://developers.openai.com/api/docs/guides/function-calling#custom-tools
 */
import type { BuiltInTool } from '../../../domain/entities/Tool';
import type { InputItem } from '../../../domain/types/ResponsesAPITypes';
import type { VendorQuirks } from '../../../domain/types/VendorTypes';
import { fieldsOf, isObject } from '../../../domain/util/json';
import { omitUndefined } from '../../../domain/util/omitUndefined';
import type { NativeForm, NativeForms } from './nativeTools';

export function customForms({ supportsCustomTools }: VendorQuirks): NativeForms {
  return supportsCustomTools === true ? { custom } : {};
}

const custom: NativeForm = {
  offer: ({ name }, { description, format }) =>
    // The cast is safe: tools other than functions are open objects with a type.
    ({ type: 'custom', name, ...omitUndefined({ description, format }) }) as unknown as BuiltInTool,
  readCall: (item, tool) =>
    item.type === 'custom_tool_call' && item.name === tool.name && typeof item.call_id === 'string'
      ? { call_id: item.call_id, arguments: JSON.stringify({ input: item.input }) }
      : undefined,
  writeOutput: ({ call_id, output }, call) => {
    const { caller } = fieldsOf(call);
    const item: InputItem = { type: 'custom_tool_call_output', call_id, output };
    return [isObject(caller) ? { ...item, caller } : item];
  },
};
