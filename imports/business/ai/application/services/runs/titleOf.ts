import { textOfContent } from '../../../domain/entities/Content';
import type { Item } from '../../../domain/types/ResponsesAPITypes';

/** Characters. */
const TITLE_LENGTH = 80;

/** The first line that people see of a run. */
export function titleOf(input: readonly Item[]): string {
  const question = input.findLast((item) => item.type === 'message' && item.role === 'user');
  const text = question?.type === 'message' ? textOfContent(question.content).replace(/\s+/g, ' ').trim() : '';
  return text.length <= TITLE_LENGTH ? text : `${text.slice(0, TITLE_LENGTH - 1).toWellFormed()}…`;
}
