/** Creates and reads message parts. */
import type { Content, InputText, OutputText } from '../types/ResponsesAPITypes';

export function inputText(text: string): InputText {
  return { type: 'input_text', text };
}

export function outputText(text: string, annotations: OutputText['annotations'] = []): OutputText {
  return { type: 'output_text', text, annotations };
}

/** The text of parts, refusals included, images and files skipped. */
export function textOfContent(content: readonly Content[]): string {
  let text = '';
  for (const part of content) {
    if (part.type === 'input_text' || part.type === 'output_text') text += part.text;
    else if (part.type === 'refusal') text += part.refusal;
  }
  return text;
}
