/** Converts a request, leaving out the vendor's missing server tools if the caller permits that. */
import { UnsupportedFeatureError } from '../../domain/errors/LLMErrors';
import { isFunctionTool } from '../../domain/entities/Tool';
import type { Tool } from '../../domain/entities/Tool';
import type { Slices } from '../../domain/util/slices';
import type { NormalizedOptions } from '../../domain/types/LLMTypes';
import type { WireRequest } from '../converters/Wire';

/** @throws UnsupportedFeatureError for what may not be left out, and whatever `convert` throws */
export function* convertOffered(
  options: NormalizedOptions,
  convert: (options: NormalizedOptions) => Slices<WireRequest>,
): Slices<WireRequest> {
  const warnings: string[] = [];
  let offered = options;
  for (;;) {
    try {
      const request = yield* convert(offered);
      return warnings.length === 0 ? request : { ...request, warnings: [...warnings, ...request.warnings] };
    } catch (error) {
      const missing = missingTools(error, offered);
      if (missing.length === 0) throw error;
      const names = missing.map(({ type }) => `"${type}"`).join(', ');
      warnings.push(`Not offered to the model: ${names}. ${(error as Error).message}`);
      const tools = offered.tools?.filter((tool) => !missing.includes(tool)) ?? [];
      offered = { ...offered, tools };
    }
  }
}

/** Without functions, or if the request demands the tool, an answer without it would not be what was asked for. */
function missingTools(
  error: unknown,
  { tools = [], tool_choice: choice, unsupportedTools }: NormalizedOptions,
): Tool[] {
  if (unsupportedTools !== 'drop' || !(error instanceof UnsupportedFeatureError)) return [];
  const path = /^tools(?:\[(?<index>\d+)\])?$/.exec(error.path ?? '');
  if (path === null || !tools.some(isFunctionTool)) return [];
  const index = path.groups?.index;
  const missing = (index === undefined ? tools : tools.slice(Number(index), Number(index) + 1)).filter(
    (tool) => !isFunctionTool(tool),
  );
  const isDemanded = typeof choice === 'object' && missing.some(({ type }) => type === choice.type);
  return isDemanded ? [] : missing;
}
