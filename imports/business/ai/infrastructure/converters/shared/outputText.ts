import type { FunctionCallOutputItem } from '../../../domain/types/ResponsesAPITypes';

/** The texts of an output, without its images and files. */
export function textOfOutput({ output }: FunctionCallOutputItem): string {
  if (typeof output === 'string') return output;
  return output.flatMap((part) => (part.type === 'input_text' ? [part.text] : [])).join('\n');
}
