import { runAreas } from '../groups.ts';

runAreas(['cli'], 3, 3);
