import { runAreas } from '../groups.ts';

runAreas(['unit', 'gates']);
