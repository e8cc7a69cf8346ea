/** Complains about a history that a vendor would refuse, or that tells a result twice. */
import type { Item } from '../../imports/business/ai/domain/types/ResponsesAPITypes';

/** @throws Error that names the first violation */
export function checkTranscript(items: readonly Item[]): void {
  const called = new Set<string>();
  const acknowledged = new Set<string>();
  const told = new Set<string>();
  const open: string[] = [];
  items.forEach((item, index) => {
    const where = `item ${index}`;
    if (item.type === 'function_call') {
      if (called.has(item.call_id)) throw new Error(`${where}: the call id ${item.call_id} is used twice`);
      called.add(item.call_id);
      open.push(item.call_id);
    } else if (item.type === 'function_call_output') {
      if (item.deferred === true) {
        if (open.length > 0) throw new Error(`${where}: a late result stands before the answer to ${open.join(', ')}`);
        if (!acknowledged.has(item.call_id))
          throw new Error(`${where}: a late result of ${item.call_id}, which was not acknowledged`);
      } else {
        const next = open.shift();
        if (next !== item.call_id)
          throw new Error(`${where}: an answer to ${item.call_id}, where ${next ?? 'none'} is due`);
      }
      if (item.status === 'in_progress') {
        acknowledged.add(item.call_id);
        return;
      }
      if (told.has(item.call_id)) throw new Error(`${where}: the result of ${item.call_id} is told twice`);
      told.add(item.call_id);
    } else if (item.type === 'message' && item.role === 'user' && open.length > 0) {
      throw new Error(`${where}: the turn goes on before ${open.join(', ')} is answered`);
    }
  });
  if (open.length > 0) throw new Error(`the calls ${open.join(', ')} are not answered`);
}

/** @throws Error when the later history is not the earlier one and more */
export function checkGrowth(earlier: readonly Item[], later: readonly Item[]): void {
  earlier.forEach((item, index) => {
    if (JSON.stringify(later[index]) !== JSON.stringify(item))
      throw new Error(`item ${index} of the history was rewritten`);
  });
}
