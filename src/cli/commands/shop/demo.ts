import { type ChangeOptions, makeChange } from '../../framework/change.ts';
import { pluralize } from '../../framework/output.ts';

/** Deletes the demo cheeses that were not changed and never ordered. */
export function removeDemo(options: ChangeOptions): Promise<void> {
  return makeChange(options, async ({ demo }, context) => {
    const result = await demo.remove(context);
    const { removed, kept } = result;
    return {
      value: result,
      text: [
        removed.length === 0
          ? 'The shop has no demo cheeses that were not changed and never ordered.'
          : `Removed ${pluralize(removed.length, 'demo cheese')}: ${removed.join(', ')}.`,
        ...(kept.length === 0 ? [] : [`Kept, because they were ordered: ${kept.join(', ')}.`]),
      ].join('\n'),
    };
  });
}
