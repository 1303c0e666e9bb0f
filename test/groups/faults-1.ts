import { runAreas } from '../groups.ts';

runAreas(['faults', 'files'], 1, 2);
